-- What the operator set for a project instead of the defaults: JSON, {name: number}.
alter table project add column limits text;

-- What each agent has stored, in bytes. The row of an agent that was removed stays: what it stored is still the project's.
create table usage (
  agent_id   text collate "C" primary key,
  project_id text collate "C" not null,
  bytes      bigint not null
);
create index usage_by_project on usage (project_id);

-- Push configs that still tell of their task.
create index subscription_live_push on subscription (agent_id) where kind = 'push' and status <> 'paused';

-- Keys are listed page by page.
create index api_key_by_agent_and_id on api_key (agent_id, id);
