-- How many tasks a project has in each state, and how many of them have one agent, assignee or originator, or one agent and
-- originator. '' in a column: any. A list has its total from here.
create table task_count (
  agent_id      text    not null,
  assignee_id   text    not null,
  originator_id text    not null,
  project_id    text    not null,
  state         text    not null,
  total         integer not null,
  primary key (agent_id, assignee_id, originator_id, project_id, state)
) without rowid;

insert into task_count (agent_id, assignee_id, originator_id, project_id, state, total)
            select '', '', '', project_id, state, count(*) from task group by project_id, state
  union all select agent_id, '', '', project_id, state, count(*) from task group by agent_id, project_id, state
  union all select '', assignee_id, '', project_id, state, count(*) from task group by assignee_id, project_id, state
  union all select '', '', originator_id, project_id, state, count(*) from task group by originator_id, project_id, state
  union all select agent_id, '', originator_id, project_id, state, count(*) from task group by agent_id, originator_id, project_id, state;
