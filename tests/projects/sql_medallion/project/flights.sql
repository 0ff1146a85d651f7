-- Databricks notebook source
CREATE OR REFRESH STREAMING LIVE TABLE flights_bronze (
  CONSTRAINT readable EXPECT (_rescued_data IS NULL)
)
COMMENT "Flights as delivered"
TBLPROPERTIES ("quality" = "bronze", "pipelines.reset.allowed" = "true")
AS SELECT *, _metadata.file_name AS file
FROM cloud_files("${landing}/flights", "json", map("rescuedDataColumn", "_rescued_data", "schema", "flight STRING, origin STRING, minutes_late INT"));

-- COMMAND ----------

CREATE TEMPORARY STREAMING LIVE VIEW flights_checked (
  CONSTRAINT known_origin EXPECT (origin IS NOT NULL) ON VIOLATION DROP ROW
)
AS SELECT flight, upper(trim(origin)) AS origin, coalesce(minutes_late, 0) AS minutes_late
FROM STREAM(LIVE.flights_bronze);

-- COMMAND ----------

CREATE OR REFRESH STREAMING TABLE flights_silver
CLUSTER BY (origin)
AS SELECT * FROM STREAM flights_checked;

-- COMMAND ----------

CREATE OR REFRESH MATERIALIZED VIEW delays_by_origin (
  origin STRING COMMENT "Airport",
  worst INT,
  CONSTRAINT one_row_per_origin PRIMARY KEY (origin) NOT ENFORCED
)
AS SELECT origin, max(minutes_late) AS worst FROM flights_silver GROUP BY origin;

-- COMMAND ----------

CREATE LIVE VIEW on_time AS SELECT flight FROM LIVE.flights_silver WHERE minutes_late <= 0;

CREATE OR REFRESH LIVE TABLE on_time_flights AS SELECT * FROM LIVE.on_time;
