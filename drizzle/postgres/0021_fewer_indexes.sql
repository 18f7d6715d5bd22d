-- Fewer indexes for a message. Each row below is in the indexes that a query of it needs, and in no other.

-- Almost every task is with the agent that it was sent to: one index finds it by either. A task that was handed over is in two others.
drop index task_by_agent;
drop index task_by_assignee;
create index task_by_assignee on task (assignee_id, state, status_at desc, id desc) where case when agent_id = assignee_id then true else false end;
create index task_handed_to on task (assignee_id, state, status_at desc, id desc) where case when agent_id <> assignee_id then true else false end;
create index task_handed_on on task (agent_id, state, status_at desc, id desc) where case when agent_id <> assignee_id then true else false end;

-- The first mail of a task has the id of the task, so only later mail is searched for by the task. Older rows have ids of their own.
drop index message_by_task;
create index message_by_task on message (task_id, task_seq)
  where task_id is not null and (task_seq > 1 or id <> 'MESSAGE:' || task_id);

-- '' in thread_id: the message begins its thread, and is found by its own id. Older rows have that id in thread_id.
drop index message_by_thread;
create index message_by_thread on message (thread_id collate "C", id) where thread_id <> '';

-- The default project has nearly all records of a gateway that serves one project: they are found by their id.
drop index audit_of_project;
create index audit_of_project on audit (project_id, id) where project_id <> 'default';
