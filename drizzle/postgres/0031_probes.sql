-- When the receiver of a degraded webhook is tried next; null: it is not.
alter table subscription add column probe_at bigint;
create index subscription_probe on subscription (probe_at) where status = 'degraded' and probe_at is not null;
update subscription set probe_at = updated_at where status = 'degraded' and harness_target = 'a2a-webhook';
