-- One table for the idempotency keys of tasks and of mail. `scope`: the id of the agent that a task is for, or `mail`.
alter table idempotency_key rename column agent_id to scope;
alter table idempotency_key rename column task_id to result_id;

insert into idempotency_key (caller_id, scope, key, fingerprint, result_id, created_at)
  select caller_id, 'mail', key, fingerprint, message_id, created_at from message_key;

drop table message_key;
