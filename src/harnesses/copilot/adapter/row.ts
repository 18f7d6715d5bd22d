import type { AdapterRow } from '../../../bridge/adapter.ts'
import { CopilotAdapter } from './copilot-adapter.ts'

export const copilotRow: AdapterRow = {
  id: 'copilot',
  title: 'Copilot CLI',
  proves: ['accepted', 'turn_started'],
  settings: {},
  create: (context) => new CopilotAdapter(context),
}
