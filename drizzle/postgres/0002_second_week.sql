-- Mail to the operator, by the project and the sender: one sender's many hide nobody's.
alter table message_recipient add column origin text collate "C"; -- 'project sender', where the recipient is the operator
update message_recipient set origin = (select m.project_id || ' ' || m.sender_id from message m where m.id = message_id) where agent_id = 'operator';
-- The operator's unread mail of each sender.
create index message_recipient_by_origin on message_recipient (origin, message_id) where agent_id = 'operator' and status = 'sent';
