/** With a comment, as its users write them, and with the schema: OpenCode adds it where it is missing. */
export const opencodeConfig = (model: string, more = '') => `{
  "$schema": "https://opencode.ai/config.json",
  // the user's own
  "autoupdate": false,
  "share": "disabled",
  "model": "mock/mock-model",
  "small_model": "mock/mock-model",
  "enabled_providers": ["mock"],
  "provider": {
    "mock": {
      "npm": "@ai-sdk/openai-compatible",
      "name": "Mock",
      "options": { "baseURL": "${model}", "apiKey": "x" },
      "models": { "mock-model": { "name": "Mock", "limit": { "context": 100000, "output": 4096 } } },
    },
  },${more}
}
`

/** No update, no download. */
export const opencodeQuiet = {
  OPENCODE_DISABLE_AUTOUPDATE: '1',
  OPENCODE_DISABLE_MODELS_FETCH: '1',
  OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
}
