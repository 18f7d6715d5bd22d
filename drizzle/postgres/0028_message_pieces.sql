-- A large message is stored in pieces, each in a transaction of its own, before the row of the message: to write it at once would make
-- everybody wait. The row has the end of its text, and names the pieces of the rest.
create table task_message_piece (
  pieces_id text collate "C" not null,
  nth       bigint not null,
  piece     text not null,
  primary key (pieces_id, nth)
);
-- Pieces without a message: it is about to be stored, or it was refused. created_at 0: they are being deleted.
create table task_message_pending (
  pieces_id  text collate "C" not null primary key,
  created_at bigint not null
);
create index task_message_pending_by_time on task_message_pending (created_at);
-- null: the whole text is in the row.
alter table task_message add column pieces_id text collate "C";
