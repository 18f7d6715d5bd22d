import { dirname } from 'node:path'

interface Place {
  readonly env: Record<string, string>
  at(...names: string[]): string
  write(name: string, text: string): void
}

const apiKey = 'sk-ant-api03-0000000000000000000000000000'

/** A configuration that answers what Claude Code asks a new user. Its model is the one at the address. */
export function prepareClaude(office: Place, claude: string, model: string): void {
  Object.assign(office.env, {
    CLAUDE_CONFIG_DIR: office.at('claude'),
    ANTHROPIC_BASE_URL: model.replace(/\/v1$/, ''),
    ANTHROPIC_API_KEY: apiKey,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    PATH: `${dirname(claude)}:${office.env.PATH}`,
  })
  const project = { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true }
  const state = {
    hasCompletedOnboarding: true,
    theme: 'dark',
    customApiKeyResponses: { approved: [apiKey.slice(-20)], rejected: [] },
    projects: { [office.at('project')]: project },
  }
  office.write('claude/.claude.json', JSON.stringify(state, null, 2))
}
