-- The agent that a task was sent to, which never changes. The assignee is who works on it, and changes when the task is handed over.
alter table task add column agent_id text collate "C" not null default '';
update task set agent_id = assignee_id;
create index task_by_agent on task (agent_id, state, status_at desc, id desc);
create index task_by_originator_agent on task (originator_id, agent_id, status_at desc, id desc);
drop index task_by_originator_assignee;

-- Who was the assignee of a task before: it may still read the task.
create table task_former_assignee (
  task_id  text collate "C" not null,
  agent_id text collate "C" not null,
  primary key (task_id, agent_id)
);

-- The owner of a claim on a task is the assignee of the task.
delete from claim where exists (select 1 from task t where t.id = claim.ref and t.assignee_id <> claim.owner_id);
