-- What the questions are asked of: all rows of a dataset that `timermeter collect` made, and those of the last report of each node.
-- Change 'fleet' to the dataset. A report that does not say of which node it is counts as a node. Readers of older and newer parts together: columns go by name.
CREATE OR REPLACE VIEW fleet AS
SELECT coalesce(host, platform || ' ' || left(report_id, 8)) AS node, *
FROM read_parquet('fleet/**/*.parquet', hive_partitioning = true, union_by_name = true);

CREATE OR REPLACE VIEW latest AS
SELECT * FROM fleet WHERE provenance = 'measured'
QUALIFY dense_rank() OVER (PARTITION BY node ORDER BY created DESC, report_id) = 1;
