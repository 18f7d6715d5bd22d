-- Who may write to an agent: everybody of its project, or those it granted CAN_REPLY_TO.
alter table agent add column contact_policy text not null default 'everybody';

-- A display name that can be typed is an address too, among handles and aliases. Who had it first keeps it.
insert into agent_name (project_id, name, agent_id)
select project_id, '@' || lower(display_name), id from agent
where display_name is not null and length(display_name) between 1 and 12 and display_name not glob '*[^A-Za-z]*'
  and lower(display_name) not in ('operator', 'all', 'system')
order by created_at, id
on conflict (project_id, name) do nothing;

-- One owner for each unit of work: the key holds it.
create table claim (
  project_id text    not null,
  ref        text    not null, -- a task, an issue, a commit, a path: as it was given
  owner_id   text    not null,
  claimed_at integer not null,
  seen_at    integer not null, -- when its owner last said that it works on it
  primary key (project_id, ref)
) without rowid;
create index claim_by_owner on claim (owner_id, project_id, ref);
