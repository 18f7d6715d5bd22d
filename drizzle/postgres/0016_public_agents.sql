-- The catalog lists the public agents of other projects.
create index agent_public on agent (project_id, handle) where access = 'public';
