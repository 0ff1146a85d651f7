# Databricks notebook source
display(spark.sql("SELECT * FROM main.taxi.sample_zones"))
