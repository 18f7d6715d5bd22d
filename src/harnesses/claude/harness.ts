import type { Harness } from '../harness.ts'
import { asks, endsUnlessItGoesOn, failed, noticed, prompted, rests, specificOutput, starts, works } from '../hooks.ts'
import { boxed, rule } from '../screen.ts'
import { claudeApprovals } from './approvals.ts'
import { contextTokens } from './context-tokens.ts'
import { claudeHome, claudeInstall } from './install.ts'
import { claudeLimit } from './limit.ts'

/** Of Claude Code, and of harnesses with the same hooks. */
export const claudeActs = {
  sessionstart: starts,
  userpromptsubmit: prompted,
  permissionrequest: asks,
  posttooluse: works,
  notification: noticed,
  stop: rests,
  stopfailure: failed,
  sessionend: endsUnlessItGoesOn,
}

export const claude: Harness = {
  id: 'claude',
  title: 'Claude Code',
  binary: 'claude',
  surface: 'claude_code',
  variables: {
    mark: 'CLAUDECODE',
    pid: 'CLAUDE_PID',
    conversation: 'CLAUDE_CODE_SESSION_ID',
    directory: 'CLAUDE_PROJECT_DIR',
    home: 'CLAUDE_CONFIG_DIR',
  },
  home: claudeHome,
  install: claudeInstall,
  hooks: {
    acts: claudeActs,
    prompt: 'userpromptsubmit',
    contextOutput: specificOutput,
    contextTokens,
    approvals: claudeApprovals,
    isUnattended: ({ CLAUDE_CODE_SESSION_ATTENDED: attended, CLAUDE_CODE_ENTRYPOINT: entry }) =>
      attended === '0' || (attended === undefined && entry?.startsWith('sdk') === true),
  },
  inside: {
    attach: async (program) => (await import('./adapter/inside/monitor.ts')).runMonitor(program),
    wait: async (program) => (await import('./adapter/inside/waiter.ts')).waitForWake(program),
  },
  limitIn: claudeLimit,
  adapter: async () => (await import('./adapter/claude-adapter.ts')).claudeRow,
  screen: {
    path: /(^|\/)claude(\.exe)?$|\/@anthropic-ai\/claude-code(-[\w-]+)?\//u,
    composer: /^\s*[│┃]?\s*[❯>][ \u00a0]?/u,
    composerBegin: rule,
    composerEnd: rule,
    edge: boxed,
    busy: /\besc to interrupt\b|^\s*[·✢✳✶✻✽*] \p{L}+…/iu,
    approval:
      /^\s*[│┃]?\s*[❯>]\s*\d\.\s|Do you want to|Would you like to proceed|\bEsc to cancel\b|\bEnter to (confirm|select)\b/iu,
  },
}
