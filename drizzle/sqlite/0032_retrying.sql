-- The deliveries that wait for their next attempt, for what is shown of their subscription.
create index delivery_retrying on delivery (subscription_id) where next_attempt_at is not null;
