-- A subscription reads the events of one trigger. Without this, one to a rare trigger walks over all events of its agent.
create index event_audience_by_trigger on event_audience (audience, project_id, trigger, log_id) where trigger is not null;
