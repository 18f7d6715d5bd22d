/** Codex with a model of its own: no login, no network, no background process. */
export const codexConfig = (model: string, project: string, approvalPolicy = 'never') => `# the user's own
model = "mock-model"
model_provider = "mock"
approval_policy = "${approvalPolicy}"
sandbox_mode = "read-only"
check_for_update_on_startup = false

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
