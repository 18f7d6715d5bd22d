import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** The files that wait or work for more than ten seconds. A new one belongs here too. */
const longest = [
  'process/nothing-missed',
  'readme/follow',
  'fronts/mcp/clients-matrix',
  'fronts/mcp/http/session-life',
  'fronts/mcp/http/slow-reader',
  'process/crash-before-delivery',
  'process/crash-during-digest',
  'grpc/lifecycle',
  'process/crash-under-load',
  'fronts/unread-streams',
  'public/package',
  'process/starting',
  'process/stopping',
  'redaction/redaction',
  'rest/hostile-values',
  'access/a2a-walk',
  'gateways/live',
  'registry/shares',
  'tasks/limits',
  'wakes/retries',
  'a2a/lifecycle',
  'process/listening',
  'fronts/http-server',
  'fronts/outage',
  'contract/contract',
  'cli/listen-recipes',
  'wake-stream/steps',
  'bridge/tmux/tmux-adapter',
  'bridge/qwen/qwen-adapter',
  'webhooks/outbound',
  'access/walk',
  'access/mcp-walk',
  'bridge/run/trouble',
  'bridge/run/bridge',
  'bridge/opencode/port',
  'bridge/opencode/plugin',
]

/**
 * The order of the files: a project after the other, for a worker ends where the project of its files does; in each the longest
 * first, so that no worker ends with one of them while the others have nothing to do.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const projects = [...new Set(files.map(({ project }) => project.name))].sort().reverse()
    const rank = ({ project, moduleId }: TestSpecification): number => {
      const place = longest.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`))
      return projects.indexOf(project.name) * (longest.length + 1) + (place < 0 ? longest.length : place)
    }
    return sorted.sort((a, b) => rank(a) - rank(b))
  }
}
