import { claudeActs } from '../claude/harness.ts'
import { claudeEvents } from '../claude/install.ts'
import { geminiScreen } from '../gemini/harness.ts'
import { settingsInstall } from '../gemini/install.ts'
import type { Harness } from '../harness.ts'
import { specificOutput } from '../hooks.ts'
import { directoryOf, type Place } from '../places.ts'

const home = (place: Place): string => directoryOf(place, 'QWEN_HOME', '.qwen')

export const qwen: Harness = {
  id: 'qwen',
  title: 'Qwen Code',
  binary: 'qwen',
  surface: 'qwen',
  variables: { mark: 'QWEN_CODE', home: 'QWEN_HOME' },
  home,
  // The unit of a hook's time-out differs between versions of Qwen Code: its default stays.
  install: settingsInstall('qwen', home, claudeEvents, {}),
  hooks: { acts: claudeActs, prompt: 'userpromptsubmit', contextOutput: specificOutput },
  adapter: async () => (await import('./adapter/qwen-adapter.ts')).qwenRow,
  screen: { ...geminiScreen, path: /(^|\/)qwen$|\/@qwen-code\/qwen-code\//u },
}
