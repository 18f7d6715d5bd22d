-- Whose call caused an event: nobody is woken by what it did itself. Events without one are older, or the gateway's.
alter table event add column actor_id text;
