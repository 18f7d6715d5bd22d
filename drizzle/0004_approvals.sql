-- Requests of harnesses to a person, and the answers. The input is data: no query reads it.
create table approval (
  id              {key} primary key, -- 'APPROVAL:' and a ULID
  project_id      {key} not null,
  agent_id        {key} not null,
  session_id      {key},             -- the live session when it was asked
  nonce           {key} not null,    -- one request of the harness
  harness         {key} not null,
  conversation_id {key} not null,
  kind            {key} not null,    -- permission | question
  tool            {key} not null,
  input           {key},             -- JSON, whole; null: too large
  input_size      {int} not null,
  input_hash      {key} not null,
  reason          {key},
  cwd             {key},
  mode            {key},
  asked_at        {int} not null,
  expires_at      {int} not null,
  state           {key} not null,    -- open | answered | answered_there | expired | withdrawn
  closed_at       {int},
  answer          {key},             -- once | deny | answer; null: no person decided
  message         {key},
  answers         {key},             -- JSON: by question
  decided_by      {key},             -- the name of the person
  outcome         {key}              -- taken | late, as its adapter reports
){byKey};
create unique index approval_by_nonce on approval (agent_id, nonce);
create index approval_of_conversation on approval (conversation_id, project_id, id);
create index approval_of_agent on approval (agent_id, state, id);
create index approval_of_project on approval (project_id, state, id);
create index approval_open on approval (expires_at) where state = 'open';
-- What no person decided: of an agent the newest are kept.
create index approval_undecided on approval (agent_id, id) where closed_at is not null and answer is null;
create index approval_closed on approval (closed_at) where closed_at is not null;

-- 1: its person may answer what a harness asks.
alter table operator_key add column approves {int} not null default 0;

-- The name of the operator who sent it.
alter table message add column person {key};
