/**
 * Codex with a model of its own: no login, no network, no background process. Its first turn waits for the tools: by itself Codex waits a
 * second, and begins without those of a server that it has not heard by then. On a busy machine that is any server.
 */
export const codexConfig = (model: string, project: string, approvalPolicy = 'never') => `# the user's own
model = "mock-model"
model_provider = "mock"
approval_policy = "${approvalPolicy}"
sandbox_mode = "read-only"
check_for_update_on_startup = false
mcp_optional_startup_grace_ms = 0

[features]
daemon_auto_start = false

[model_providers.mock]
name = "mock"
base_url = "${model}"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
requires_openai_auth = false
supports_websockets = false

[projects."${project}"]
trust_level = "trusted"
`
