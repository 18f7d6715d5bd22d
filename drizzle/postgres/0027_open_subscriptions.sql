-- The subscriptions that an event of their audience can change. Those that are due or leased already are left out: of an agent with hundreds
-- of them, each event read all.
create index subscription_open on subscription (audience, status)
  where status = 'active' and (due_at is null or harness_target in ('bridge-daemon'));
