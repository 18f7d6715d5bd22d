-- Finds the recipients of a message, by nothing but the message. In its order PostgreSQL walked over the mail of all agents, to find
-- that of one. The old one is dropped last: mail can be read until then, though not be sent.
create index message_recipient_of_message on message_recipient using hash (message_id);
drop index message_recipient_by_message;
alter index message_recipient_of_message rename to message_recipient_by_message;
