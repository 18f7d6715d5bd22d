-- The subscriptions of a project whose receiver is away: without an index each read of what needs somebody would read all of them.
create index subscription_failing on subscription (project_id, id) where failed_in_a_row > 0;
create index subscription_degraded on subscription (project_id, id) where status = 'degraded';
