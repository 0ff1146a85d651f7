CREATE OR REFRESH STREAMING LIVE TABLE customers_history;

APPLY CHANGES INTO LIVE.customers_history
FROM STREAM(LIVE.customers_cdc_clean)
KEYS (customer_id)
APPLY AS DELETE WHEN operation = "DELETE"
SEQUENCE BY sequence_number
COLUMNS * EXCEPT (operation, sequence_number)
STORED AS SCD TYPE 2
TRACK HISTORY ON * EXCEPT (name);
