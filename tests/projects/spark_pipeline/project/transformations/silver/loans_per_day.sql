CREATE MATERIALIZED VIEW loans_per_day COMMENT 'Books lent on each day'
AS SELECT day, count(DISTINCT member) AS members, count(*) AS loans FROM dated GROUP BY day;

CREATE STREAMING TABLE peer_gynt;
CREATE FLOW peer_gynt_loans AS INSERT INTO peer_gynt BY NAME
SELECT member, day FROM STREAM loans WHERE book = 'Peer Gynt';
