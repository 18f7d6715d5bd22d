import type { Files, FixtureCase } from './fixture.ts'

/** A case of a gateway that others share: `record` is called after those before it, and sees what they have done. */
export type SharedCase<Scene> = readonly [
  folder: string,
  shows: string,
  record: (scene: Scene) => Promise<Files> | Files,
]

/**
 * Cases that share a gateway, since a gateway of its own for each takes too long. `stage` opens it, plays and closes it. All of them are
 * recorded at once, in their order, so that the files of one do not depend on which others are rendered.
 */
export function together<Scene>(
  stage: (play: (scene: Scene) => Promise<void>) => Promise<void>,
  cases: readonly SharedCase<Scene>[],
): FixtureCase[] {
  let recorded: Promise<Map<string, Files>> | undefined
  const play = async (): Promise<Map<string, Files>> => {
    const files = new Map<string, Files>()
    await stage(async (scene) => {
      for (const [folder, , record] of cases) files.set(folder, await record(scene))
    })
    return files
  }
  const render = async (folder: string): Promise<Files> => {
    recorded ??= play()
    return (await recorded).get(folder)!
  }
  return cases.map(([folder, shows]) => ({ folder, shows, render: () => render(folder) }))
}
