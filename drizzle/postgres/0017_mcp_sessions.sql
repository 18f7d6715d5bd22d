-- A session of an MCP client over HTTP, of a protocol version that has sessions. Any gateway of the store serves it.
create table mcp_session (
  id               text collate "C" primary key,     -- SHA-256 of its Mcp-Session-Id, in hexadecimal
  project_id       text collate "C" not null,
  caller_id        text collate "C" not null,        -- the agent, or operator
  key_id           text collate "C" not null,        -- the key that began it: when that ends, it ends
  protocol_version text    not null,        -- as negotiated
  initialize       text    not null,        -- the params of its initialize request, as JSON
  log_level        text,                    -- what logging/setLevel set
  resources        text    not null,        -- the URIs of resources/subscribe, as a JSON list
  stream_id        text,                    -- the stream that its notifications are written to: the newest
  last_used_at     bigint  not null,
  created_at       bigint  not null
);
create index mcp_session_by_key on mcp_session (key_id, last_used_at);
create index mcp_session_by_caller on mcp_session (caller_id, last_used_at);
create index mcp_session_by_use on mcp_session (last_used_at);
