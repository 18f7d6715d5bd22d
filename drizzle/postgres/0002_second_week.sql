-- Until when an act in flight has to lead to a sign of life. `since` says when it was ordered, and never moves.
alter table recovery add column deadline_at bigint;
