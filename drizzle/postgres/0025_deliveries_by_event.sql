-- Receipts name wakes by their event ids only, also wakes that are decided. Over an expression, so that no other statement takes it: for an
-- empty store it looks as good as the index of a subscription.
create index delivery_by_event on delivery ((event_id || ''));
drop index delivery_unfinished_by_event;
