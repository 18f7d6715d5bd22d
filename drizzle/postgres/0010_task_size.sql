-- What a task holds, and each message and piece of an artifact by itself: a task has a bound, and an answer with it too. The size
-- is the bytes of the JSON, and some more for each value in it. A row without one is older, and its size is its bytes.
alter table task_message add column size bigint;
alter table task_chunk add column size bigint;
alter table task add column size bigint not null default 0;

update task set size = coalesce(octet_length(metadata), 0)
  + coalesce((select sum(octet_length(message)) from task_message where task_id = task.id), 0)
  + coalesce((select sum(octet_length(artifact)) from task_chunk where task_id = task.id), 0);
