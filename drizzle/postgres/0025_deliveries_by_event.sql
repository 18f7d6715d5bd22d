-- Receipts name wakes by their event ids only, also wakes that are decided. The index of the open ones is a part of this one.
create index delivery_by_event on delivery (event_id);
drop index delivery_unfinished_by_event;
