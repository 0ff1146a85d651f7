-- The tables of all types, and the changes that the connector reads. Everything before the first mark is there before
-- the connector starts, each part after a mark follows once the connector has read the part before.
CREATE EXTENSION hstore;
CREATE EXTENSION ltree;
CREATE EXTENSION citext;
CREATE EXTENSION postgis;
-- Debian 12 has no pgvector: types of its names, written as text as its types are.
CREATE TYPE vector;
CREATE FUNCTION vector_in(cstring) RETURNS vector AS 'textin' LANGUAGE internal IMMUTABLE STRICT;
CREATE FUNCTION vector_out(vector) RETURNS cstring AS 'textout' LANGUAGE internal IMMUTABLE STRICT;
CREATE TYPE vector (INPUT = vector_in, OUTPUT = vector_out, LIKE = text);
CREATE TYPE halfvec;
CREATE FUNCTION halfvec_in(cstring) RETURNS halfvec AS 'textin' LANGUAGE internal IMMUTABLE STRICT;
CREATE FUNCTION halfvec_out(halfvec) RETURNS cstring AS 'textout' LANGUAGE internal IMMUTABLE STRICT;
CREATE TYPE halfvec (INPUT = halfvec_in, OUTPUT = halfvec_out, LIKE = text);
CREATE TYPE sparsevec;
CREATE FUNCTION sparsevec_in(cstring) RETURNS sparsevec AS 'textin' LANGUAGE internal IMMUTABLE STRICT;
CREATE FUNCTION sparsevec_out(sparsevec) RETURNS cstring AS 'textout' LANGUAGE internal IMMUTABLE STRICT;
CREATE TYPE sparsevec (INPUT = sparsevec_in, OUTPUT = sparsevec_out, LIKE = text);
CREATE TYPE mood AS ENUM ('sad', 'ok', 'very happy');
CREATE DOMAIN positive AS integer CHECK (value > 0);
CREATE DOMAIN stars AS positive CHECK (value <= 5);
CREATE DOMAIN price AS numeric(12,3) CHECK (value >= 0);
CREATE DOMAIN low_price AS price CHECK (value < 1000);
CREATE DOMAIN code AS varchar(8);
CREATE DOMAIN short_code AS code CHECK (length(value) <= 4);
CREATE TYPE pair AS (a integer, b text);

CREATE TABLE types (
    id integer PRIMARY KEY,
    c_boolean boolean, c_smallint smallint, c_integer integer, c_bigint bigint, c_oid oid, c_real real, c_double double precision,
    c_numeric_6_3 numeric(6,3), c_numeric_18_0 numeric(18,0), c_numeric_19_4 numeric(19,4), c_numeric_38_10 numeric(38,10), c_numeric_38_38 numeric(38,38),
    c_numeric numeric, c_numeric_50_5 numeric(50,5), c_money money,
    c_char char(3), c_varchar varchar(1000), c_text text, c_citext citext, c_uuid uuid, c_xml xml, c_json json, c_jsonb jsonb,
    c_inet inet, c_cidr cidr, c_macaddr macaddr, c_macaddr8 macaddr8, c_ltree ltree, c_mood mood, c_positive positive,
    c_bit1 bit(1), c_bit5 bit(5), c_bit20 bit(20), c_varbit bit varying(20), c_bytea bytea,
    c_date date, c_time0 time(0), c_time3 time(3), c_time6 time, c_timetz timetz, c_timetz3 timetz(3),
    c_ts0 timestamp(0), c_ts3 timestamp(3), c_ts6 timestamp, c_tstz0 timestamptz(0), c_tstz3 timestamptz(3), c_tstz6 timestamptz, c_interval interval,
    c_hstore hstore,
    c_int4range int4range, c_int8range int8range, c_numrange numrange, c_tsrange tsrange, c_tstzrange tstzrange, c_daterange daterange,
    c_point point, c_geometry geometry, c_geography geography,
    a_boolean boolean[], a_smallint smallint[], a_integer integer[], a_bigint bigint[], a_real real[], a_double double precision[],
    a_numeric_6_3 numeric(6,3)[], a_numeric numeric[], a_text text[], a_varchar varchar(10)[], a_char char(3)[], a_uuid uuid[], a_inet inet[], a_json json[], a_jsonb jsonb[],
    a_date date[], a_time time[], a_timetz timetz[], a_ts timestamp[], a_tstz timestamptz[], a_bytea bytea[], a_mood mood[], a_citext citext[], a_oid oid[], a_money money[], a_interval interval[],
    a_int4range int4range[], a_hstore hstore[], a_ltree ltree[], a_macaddr macaddr[], a_bit5 bit(5)[],
    c_vector vector, c_halfvec halfvec, c_sparsevec sparsevec,
    c_tsvector tsvector, c_tsquery tsquery, c_box box, c_circle circle, c_polygon polygon, c_pg_lsn pg_lsn, c_pair pair, c_int4multirange int4multirange,
    c_line line, c_lseg lseg, c_path path, c_int8multirange int8multirange, c_nummultirange nummultirange, c_tsmultirange tsmultirange, c_tstzmultirange tstzmultirange, c_datemultirange datemultirange,
    a_cidr cidr[], a_macaddr8 macaddr8[], a_int8range int8range[], a_numrange numrange[], a_tsrange tsrange[], a_tstzrange tstzrange[], a_daterange daterange[],
    c_stars stars, c_price price, c_low_price low_price, c_code code, c_short_code short_code
);
CREATE TABLE toast (
    id integer PRIMARY KEY, n integer,
    c_text text, c_varchar varchar(100000), c_citext citext, c_xml xml, c_json json, c_jsonb jsonb, c_bytea bytea, c_hstore hstore, c_numeric numeric, c_numeric_p numeric(38,10), c_varbit bit varying(80000), c_ltree ltree, c_numrange numrange,
    a_text text[], a_integer integer[], a_bigint bigint[], a_smallint smallint[], a_real real[], a_double double precision[], a_boolean boolean[], a_numeric numeric[], a_numeric_6_3 numeric(6,3)[], a_uuid uuid[], a_json json[], a_date date[], a_time time[], a_timetz timetz[], a_ts timestamp[], a_tstz timestamptz[], a_bytea bytea[], a_mood mood[], a_inet inet[], a_varchar varchar(10)[], a_int4range int4range[], a_interval interval[], a_money money[], a_oid oid[],
    c_geometry geometry, c_geography geography, c_vector vector, c_tsvector tsvector, c_polygon polygon
);
DO $$ DECLARE name text; BEGIN
  FOR name IN SELECT attname FROM pg_attribute WHERE attrelid = 'toast'::regclass AND attnum > 2 AND attstorage <> 'p' LOOP
    EXECUTE format('ALTER TABLE toast ALTER COLUMN %I SET STORAGE EXTERNAL', name);
  END LOOP;
END $$;

INSERT INTO types VALUES (1,
    true, 333, 4444, 9007199254740993, 4294967295, 4.323, 3.323,
    1.123, 128, -0.0001, -1234567890123456789012345678.0123456789, 0.12345678901234567890123456789012345678,
    12345678901234567890.678900, 1.5, 6.32,
    'cč', 'vcč', 'tč', 'Ci', '6f9619ff-8b86-d011-b42d-00c04fc964ff', '<a>b</a>', '{"a": 1.10, "b":[1, null]}', '{"a": 1.10, "b":[1, null]}',
    '192.168.2.0/24', '10.1.0.0/16', '08:00:2b:01:02:03', '08:00:2b:01:02:03:04:05', 'top.a.b', 'very happy', 7,
    '1', '00101', '00000000000000000011', '101', '\x00ff10',
    '2018-07-13', '10:23:46', '10:23:45.679', '10:23:45.678901', '10:23:45.678901+02', '10:23:45.679-03:30',
    '2018-07-13 11:23:45', '2018-07-13 11:23:45.340', '2018-07-13 11:23:45.340123', '2018-07-13 12:23:45+11', '2018-07-13 12:23:45.456-05:30', '2018-07-13 12:23:45.456123+11', '1 year 2 months 3 days 04:05:06.5',
    '"a"=>"1", "b"=>NULL, "c d"=>"x\"y"',
    '[1,10)', '[1,10)', '(1.5,2.50]', '["2018-07-13 11:23:45",)', '["2018-07-13 11:23:45+00","2019-01-01 00:00:00+00")', '[2018-07-13,2018-08-01)',
    '(1.5,-2)', 'SRID=4326;POINT(1 2)', 'SRID=4326;POINT(1 2)',
    '{t,f,NULL}', '{1,-1,NULL}', '{1,2,NULL}', '{9007199254740993,NULL}', '{1.5,NULL}', '{2.5,NULL}',
    '{1.123,-0.5,NULL}', '{1.10,-123456789012345678901234567890,NULL}', '{a,"b c",NULL,"q\"x\\y",""}', '{v,NULL}', '{c,NULL}', '{6f9619ff-8b86-d011-b42d-00c04fc964ff,NULL}', '{10.0.0.1,NULL}', '{"{\"a\": 1}",NULL}', '{"{\"a\": 1}",NULL}',
    '{2018-07-13,NULL}', '{10:23:45.678901,NULL}', '{10:23:45.678901+02,NULL}', '{"2018-07-13 11:23:45.340123",NULL}', '{"2018-07-13 12:23:45.456123+11",NULL}', '{"\\x00ff10",NULL}', '{sad,"very happy",NULL}', '{Ci,NULL}', '{4294967295,NULL}', '{$6.32,NULL}', '{"1 day",NULL}',
    '{"[1,10)",NULL}', '{"a=>1",NULL}', '{top.a,NULL}', '{08:00:2b:01:02:03,NULL}', '{00101,NULL}',
    NULL, NULL, NULL,
    'a fat cat', 'fat & rat', '(1,1),(0,0)', '<(1,2),3>', '((0,0),(1,1),(1,0))', '16/B374D848', '(1,b)', '{[1,3),[5,7)}');
UPDATE types SET c_stars = 5, c_price = 123456789.1, c_low_price = 999.995, c_code = 'code cč', c_short_code = 'cč' WHERE id = 1;
INSERT INTO types (id) VALUES (2);
INSERT INTO types (id, c_line, c_lseg, c_path, c_int8multirange, c_nummultirange, c_tsmultirange, c_tstzmultirange, c_datemultirange, a_cidr, a_macaddr8, a_int8range, a_numrange, a_tsrange, a_tstzrange, a_daterange)
    VALUES (68, '{1,2,3}', '[(0,0),(1,1)]', '((0,0),(1,1))', '{[1,3)}', '{[1.5,3.25)}', '{["2018-07-13 11:23:45",)}', '{["2018-07-13 11:23:45+00",)}', '{[2018-07-13,2018-08-01)}', '{10.1.0.0/16,NULL}', '{08:00:2b:01:02:03:04:05,NULL}', '{"[1,10)",NULL}', '{"(1.5,2.50]",NULL}', '{"[\"2018-07-13 11:23:45\",)",NULL}', '{"[\"2018-07-13 11:23:45+00\",)",NULL}', '{"[2018-07-13,2018-08-01)",NULL}');
INSERT INTO toast SELECT 1, 1, t, t, t, ('<a>' || t || '</a>')::xml, to_json(t), to_jsonb(t), t::bytea, hstore('k', t), n, 1.5, b::bit varying(80000), 'a.b', numrange(1, n),
    ARRAY[t], i, i::bigint[], ARRAY(SELECT 1 FROM generate_series(1, 3000)), i::real[], i::double precision[], ARRAY(SELECT true FROM generate_series(1, 3000)), i::numeric[], ARRAY(SELECT 1.5 FROM generate_series(1, 3000)), ARRAY(SELECT '6f9619ff-8b86-d011-b42d-00c04fc964ff'::uuid FROM generate_series(1, 300)), ARRAY[to_json(t)], ARRAY(SELECT '2018-07-13'::date FROM generate_series(1, 1000)), ARRAY(SELECT '10:00'::time FROM generate_series(1, 1000)), ARRAY(SELECT '10:00+01'::timetz FROM generate_series(1, 1000)), ARRAY(SELECT '2018-07-13'::timestamp FROM generate_series(1, 1000)), ARRAY(SELECT '2018-07-13'::timestamptz FROM generate_series(1, 1000)), ARRAY[t::bytea], ARRAY(SELECT 'ok'::mood FROM generate_series(1, 1000)), ARRAY(SELECT '10.0.0.1'::inet FROM generate_series(1, 500)), ARRAY(SELECT 'v'::varchar(10) FROM generate_series(1, 1000)), ARRAY(SELECT '[1,2)'::int4range FROM generate_series(1, 300)), ARRAY(SELECT '1 day'::interval FROM generate_series(1, 300)), ARRAY(SELECT 1::money FROM generate_series(1, 1000)), ARRAY(SELECT 1::oid FROM generate_series(1, 2000)),
    ST_MakeLine(ARRAY(SELECT ST_MakePoint(x, x) FROM generate_series(1, 300) x)), ST_MakeLine(ARRAY(SELECT ST_MakePoint(x::double precision / 10, 1) FROM generate_series(1, 300) x))::geography, ('[' || repeat('1,', 3000) || '1]')::text::vector, to_tsvector('simple', (SELECT string_agg('w' || x, ' ') FROM generate_series(1, 600) x)), ('(' || (SELECT string_agg('(' || x || ',1)', ',') FROM generate_series(1, 300) x) || ')')::polygon
    FROM (SELECT repeat('0123456789', 300) t, repeat('01', 20000) b, repeat('1234567890', 800)::numeric n, ARRAY(SELECT x FROM generate_series(1, 2000) x) i) big;
-- mark
INSERT INTO types VALUES (3,
    false, -32768, -2147483648, -9223372036854775808, 0, -3.4028235e38, -1.7976931348623157e308,
    -999.999, -99999999, -99999999999.9999, -0.0000000001, -0.00000000000000000000000000000000000001,
    -0.0000000000000000000000000000000000000000000000000001, -0.00001, -0.01,
    '', '', '', '', '00000000-0000-0000-0000-00000000000a', '', 'null', '[]',
    '::1', '::/0', '00:00:00:00:00:00', '00:00:00:00:00:00:00:00', '', 'sad', 1,
    '0', '00000', '00000000000000000000', '', '',
    '0001-01-01', '00:00:00', '00:00:00.000', '00:00:00', '00:00:00+15', '00:00:00-15',
    '0001-01-01', '0001-01-01', '0001-01-01', '0001-01-01 00:00:00+00', '0001-01-01 14:00:00+14', '0001-01-01 00:00:00.000001+00', '-1 year -2 days',
    '',
    'empty', '(,5)', '(,)', 'empty', '(,)', '(,2018-01-01)',
    '(0,0)', 'POINT EMPTY', NULL,
    '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}',
    '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}',
    NULL, NULL, NULL, '', '', '(0,0),(0,0)', '<(0,0),0>', '((0,0))', '0/0', '(,)', '{}');
INSERT INTO types (id, c_boolean, c_smallint, c_integer, c_bigint, c_oid, c_real, c_double, c_numeric_6_3, c_numeric_18_0, c_numeric_19_4, c_numeric_38_10, c_numeric_38_38, c_numeric, c_money,
    c_char, c_varchar, c_text, c_json, c_jsonb, c_bit5, c_bit20, c_varbit, c_bytea, c_date, c_time0, c_time3, c_time6, c_timetz, c_ts0, c_ts3, c_ts6, c_tstz0, c_tstz3, c_tstz6, c_interval, c_hstore, c_point, c_geometry,
    c_inet, c_stars, c_price, c_low_price, c_code, c_short_code)
    VALUES (4, true, 32767, 2147483647, 9223372036854775807, 1, 3.4028235e38, 1.7976931348623157e308, 0.999, 0, 0, 0, 0, 0, 0,
    '€uz', 'NULL', E'line\r\nbreak\ttab "quoted" back\\slash 😀 \u0001 \u007f \ufeff', '"text"', '{"z": 1, "a": {"b": "č"}}', '11111', '11111111111111111111', '11111111111111111111', '\xfffe00fbefbe', '9999-12-31', '24:00:00', '23:59:59.999', '24:00:00', '23:59:59.999999+00', '9999-12-31 23:59:59', '9999-12-31 23:59:59.999', '9999-12-31 23:59:59.999999', '9999-12-31 23:59:59+00', '9999-12-31 23:59:59.999+00', '9999-12-31 23:59:59.999999+00', '-0.5 seconds', '"__debezium"=>"\\", "e"=>""', '(1e300,-1e-300)', 'SRID=3857;LINESTRING Z (1 2 3, 4 5 6)',
    '2001:db8::ff00:42:8329', 1, 999999999.999, 0, '€uz 😀', 'NULL');
INSERT INTO types (id, c_real, c_double, c_numeric_6_3, c_numeric_18_0, c_numeric, c_date, c_time6, c_ts0, c_ts3, c_ts6, c_tstz6, c_interval, c_char, c_text, c_bit20, c_varbit)
    VALUES (5, 1.17549435e-38, 0.1, -0.128, -129, 10000000000000000000000, '1969-12-31', '09:05:07.00801', '1969-12-31 23:59:59', '1969-12-31 23:59:59.999', '1969-12-31 23:59:59.999999', '1969-12-31 23:59:59.999999+00', '-10 years 11 months', 'abc', '12.50', '10000000000000000000', '0000000100000000');
-- mark
-- Not finite, and beyond year 9999 or before year 1: one column a row, so that each one's fate shows.
INSERT INTO types (id, c_real) VALUES (11, 'NaN'), (12, 'Infinity'), (13, '-Infinity');
INSERT INTO types (id, c_double) VALUES (14, 'NaN'), (15, 'Infinity'), (16, '-Infinity');
INSERT INTO types (id, c_date) VALUES (17, 'infinity'), (18, '-infinity'), (19, '10000-01-01'), (20, '0001-12-31 BC'), (21, '5874897-12-31'), (22, '4713-01-01 BC');
INSERT INTO types (id, c_ts6) VALUES (23, 'infinity'), (24, '-infinity'), (25, '10000-01-01'), (26, '0001-12-31 BC'), (27, '294276-12-31'), (28, '4713-01-01 BC');
INSERT INTO types (id, c_tstz6) VALUES (29, 'infinity'), (30, '-infinity'), (31, '10000-01-01 00:00+00'), (32, '0001-12-31 00:00+00 BC'), (33, '294276-12-31 00:00+00');
INSERT INTO types (id, c_ts3) VALUES (34, 'infinity'), (35, '-infinity'), (36, '10000-01-01');
INSERT INTO types (id, c_numeric) VALUES (37, 'NaN');
INSERT INTO types (id, c_numeric_6_3) VALUES (38, 'NaN');
INSERT INTO types (id, c_ts0) VALUES (39, 'infinity'), (40, '1500-02-28'), (41, '2300-01-01');
INSERT INTO types (id, c_tstz0) VALUES (42, 'infinity'), (43, '1582-10-10 00:00+00');
INSERT INTO types (id, c_date) VALUES (44, '1500-02-28'), (45, '1582-10-10');
INSERT INTO types (id, a_mood) VALUES (47, '{sad,ok}'), (48, '{"very happy"}'), (49, '{sad,NULL}');
INSERT INTO types (id, c_timetz) VALUES (50, '24:00:00+00');
INSERT INTO types (id, a_integer) VALUES (53, '{{1,2},{3,4}}');
INSERT INTO types (id, a_text) VALUES (54, '{{a,b},{c,d}}');
INSERT INTO types (id, a_ts) VALUES (55, '{"0001-01-01 00:00:00"}'), (56, '{"9999-12-31 23:59:59.999999"}');
INSERT INTO types (id, c_numeric) VALUES (57, 123456789012345678901234567890123456789012345.678900), (58, 99999999999999999999999999999999999999);
INSERT INTO types (id, c_numeric_50_5) VALUES (59, 123456789012345678901234567890123456789012345.12345);
INSERT INTO types (id, c_numeric_6_3, c_numeric_18_0, c_numeric_19_4, c_numeric_38_10, c_numeric_38_38) VALUES
    (60, -999.999, -999999999999999999, -999999999999999.9999, -9999999999999999999999999999.9999999999, -0.99999999999999999999999999999999999999),
    (61, 999.999, 999999999999999999, 999999999999999.9999, 9999999999999999999999999999.9999999999, 0.99999999999999999999999999999999999999);
INSERT INTO types (id, c_money) VALUES (62, -92233720368547758.08), (63, 92233720368547758.07), (64, 123456789.01);
INSERT INTO types (id, c_vector, c_halfvec, c_sparsevec) VALUES (65, '[1,2.5,-3]', '[1,2.5]', '{1:1.5,3:2}/5'), (66, '[0]', '[0]', '{}/3');
INSERT INTO types (id, c_interval) VALUES (46, '178000000 years');
-- mark
-- PostgreSQL 14 and later.
INSERT INTO types (id, c_numeric) VALUES (51, 'Infinity'), (52, '-Infinity');
INSERT INTO types (id, c_interval) VALUES (67, '1 day 00:00:01.789012');
-- mark
UPDATE toast SET n = 2 WHERE id = 1;
UPDATE toast SET n = 3, c_text = 'short', a_integer = '{7}', c_bytea = '\x07', c_hstore = 'a=>1', c_jsonb = '{}' WHERE id = 1;
UPDATE toast SET n = 4, a_text = NULL, c_json = NULL WHERE id = 1;
DELETE FROM toast WHERE id = 1;
