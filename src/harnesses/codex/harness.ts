import { claudeActs } from '../claude/harness.ts'
import type { Harness } from '../harness.ts'
import { rests, specificOutput } from '../hooks.ts'
import { codexHome, codexInstall } from './install.ts'
import { codexLimit } from './limit.ts'
import { checkTrust } from './trust.ts'

export const codex: Harness = {
  id: 'codex',
  title: 'Codex',
  binary: 'codex',
  surface: 'codex',
  variables: {
    home: 'CODEX_HOME',
    passed: ['HOME', 'USERPROFILE', 'PATH', 'LANG', 'SHELL', 'TERM', 'TMPDIR', 'SSL_CERT_FILE', 'SystemRoot'],
  },
  home: codexHome,
  install: codexInstall,
  hooks: { acts: { ...claudeActs, interrupt: rests }, prompt: 'userpromptsubmit', contextOutput: specificOutput },
  limitIn: codexLimit,
  adapter: async () => (await import('./adapter/codex-adapter.ts')).codexRow,
  screen: {
    path: /(^|\/)codex(\.js)?$|\/@openai\/codex(-[\w-]+)?\//u,
    composer: /^› ?/u,
    composerEnd: /^\s*$/u,
    hasCursor: true,
    // Sometimes a spinner of a status line is drawn after the text.
    edge: /[\s\u2800-\u28ff]+$/gu,
    busy: /\besc to interrupt\b/iu,
    approval:
      /^\s*›\s*\d\.\s|Would you like to|Allow command|\bPress enter to (confirm|continue)\b|\bHooks need review\b/iu,
  },
  checks: async (program, place) => [await checkTrust(program, place)],
}
