import dlt
from pyspark.sql.functions import col, expr

OPERATIONS = "operation IN ('INSERT', 'UPDATE', 'DELETE')"


@dlt.view
@dlt.expect_all_or_drop({"known operation": OPERATIONS, "has a key": "customer_id IS NOT NULL"})
def customers_cdc_clean():
    return (
        spark.readStream.format("json")
        .schema("customer_id BIGINT, name STRING, city STRING, operation STRING, sequence_number BIGINT")
        .load(spark.conf.get("customers.path"))
    )


dlt.create_streaming_table(name="customers", comment="As they are now")

dlt.apply_changes(
    target="customers",
    source="customers_cdc_clean",
    keys=["customer_id"],
    sequence_by=col("sequence_number"),
    apply_as_deletes=expr("operation = 'DELETE'"),
    except_column_list=["operation", "sequence_number"],
    stored_as_scd_type=1,
)
