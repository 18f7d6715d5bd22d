-- Finds the recipients of a message, by nothing but the message. In its order PostgreSQL walked over the mail of all agents, to find
-- that of one.
drop index message_recipient_by_message;
create index message_recipient_by_message on message_recipient using hash (message_id);
