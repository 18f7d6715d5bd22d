-- How many tasks a project has in each state, and how many of them have one agent, assignee or originator, or one agent and
-- originator. '' in a column: any. A list has its total from here.
create table task_count (
  agent_id      text collate "C" not null,
  assignee_id   text collate "C" not null,
  originator_id text collate "C" not null,
  project_id    text collate "C" not null,
  state         text collate "C" not null,
  total         bigint not null,
  primary key (agent_id, assignee_id, originator_id, project_id, state)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
-- Counters are updated in place as long as their pages have room.

insert into task_count (agent_id, assignee_id, originator_id, project_id, state, total)
select coalesce(agent_id, ''), coalesce(assignee_id, ''), coalesce(originator_id, ''), project_id, state, count(*) from task
group by grouping sets ((project_id, state), (agent_id, project_id, state), (assignee_id, project_id, state),
  (originator_id, project_id, state), (agent_id, originator_id, project_id, state));
