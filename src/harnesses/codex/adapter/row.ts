import type { AdapterRow } from '../../../bridge/adapter.ts'
import { CodexAdapter } from './adapter.ts'
import { settingMeanings } from './settings.ts'

export const codex: AdapterRow = {
  id: 'codex',
  title: 'Codex',
  proves: ['written', 'held', 'delivered', 'turn_started'],
  settings: settingMeanings,
  create: (context) => new CodexAdapter(context),
}
