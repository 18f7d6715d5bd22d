-- Where the failures in a row began: the cursor and the watermark before the first of them. A recovery begins there. Null: the last
-- event arrived.
alter table subscription add column failing_cursor_log_id integer;
alter table subscription add column failing_emitted_log_id integer;
