import pandas as pd
from pyspark.sql import SparkSession
from pyspark.sql.functions import pandas_udf, udf

from helpers.words import first_word


@udf("string")
def shortened(text):
    return first_word(text)


@pandas_udf("double")
def celsius(fahrenheit: pd.Series) -> pd.Series:
    return (fahrenheit - 32) * 5 / 9


def landing() -> str:
    spark = SparkSession.builder.getOrCreate()
    return spark.conf.get("landing")
