-- What the harness says of its own conversation: where it works, and under which id it knows it.
alter table session add column cwd text;
alter table session add column harness_session_id text;
