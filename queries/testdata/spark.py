"""Runs what prof export --to sql-spark writes and keeps the rows of the relations as Parquet: spark.py SCRIPT REFUSED OUT RELATION..."""
import sys

from pyspark.sql import SparkSession


def run(spark, path):
    for statement in open(path, encoding="utf-8").read().split(";\n"):
        if statement.strip():
            spark.sql(statement).collect()


script, refused, out, relations = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
spark = (
    SparkSession.builder.master("local-cluster[2,1,1024]")
    .config("spark.ui.enabled", "false")
    .config("spark.sql.shuffle.partitions", "2")
    .config("spark.sql.warehouse.dir", out + "/warehouse")
    # Few rows and many plans: compiling them takes longer than running them.
    .config("spark.sql.codegen.wholeStage", "false")
    .config("spark.sql.codegen.factoryMode", "NO_CODEGEN")
    .config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1")
    .config("spark.executor.extraJavaOptions", "-XX:TieredStopAtLevel=1")
    .getOrCreate()
)
spark.sparkContext.setLogLevel("OFF")
try:
    run(spark, refused)
    sys.exit("rows were missing, and nothing said so")
except Exception as e:
    if "tables changed since prof wrote this" not in str(e):
        raise
run(spark, script)
for name in relations:
    spark.table(name).write.parquet(out + "/" + name)
spark.stop()
