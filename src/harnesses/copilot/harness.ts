import type { Harness } from '../harness.ts'
import { ends, noticed, rests, starts, works } from '../hooks.ts'
import { copilotHome, copilotInstall } from './install.ts'

export const copilot: Harness = {
  id: 'copilot',
  title: 'Copilot CLI',
  binary: 'copilot',
  surface: 'copilot',
  variables: { home: 'COPILOT_HOME' },
  home: copilotHome,
  install: copilotInstall,
  hooks: {
    acts: {
      sessionstart: starts,
      userpromptsubmitted: works,
      agentstop: rests,
      notification: noticed,
      sessionend: ends,
    },
    prompt: 'userpromptsubmitted',
    contextOutput: (_event, text) => ({ additionalContext: text }),
  },
  adapter: async () => (await import('./adapter/copilot-adapter.ts')).copilotRow,
}
