# Databricks notebook source
order_hints = "quantity INT, unit_price DECIMAL(10,2)"
path_of = lambda name: f"{spark.conf.get('source_path')}/{name}"
