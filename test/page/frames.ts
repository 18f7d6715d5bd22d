import type { Page } from 'playwright-core'

/** How long frames are counted, in ms. */
export const watchedMs = 4_000

/** The frames of a time in which somebody scrolls and events arrive. */
interface Frames {
  readonly count: number
  /** ms from one frame to the next. */
  readonly median: number
  readonly late: number
  readonly longest: number
  /** ms in which a script of the page held the browser for more than 50 ms at a time. */
  readonly blocked: number
}

/** Scrolls the list of a view, or the page, up and down while something happens. */
export async function whileScrolling(page: Page, act: () => Promise<void>): Promise<Frames> {
  await page.evaluate(`(() => {
    const seen = { frames: [], blocked: 0, isOver: false }
    globalThis.seen = seen
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) seen.blocked += duration
    }).observe({ type: 'longtask' })
    const place = document.querySelector('.list') ?? document.documentElement
    let last
    let down = true
    const frame = (now) => {
      if (last !== undefined) seen.frames.push(now - last)
      last = now
      const { scrollTop, scrollHeight, clientHeight } = place
      if (scrollTop + clientHeight >= scrollHeight - 1) down = false
      if (scrollTop <= 0) down = true
      place.scrollBy(0, down ? 40 : -40)
      if (!seen.isOver) requestAnimationFrame(frame)
    }
    requestAnimationFrame(frame)
  })()`)
  await act()
  const { frames, blocked } = (await page.evaluate('(seen.isOver = true, seen)')) as {
    frames: number[]
    blocked: number
  }
  const sorted = [...frames].sort((one, other) => one - other)
  const at = (part: number) => Math.round(sorted[Math.floor((sorted.length - 1) * part)]! * 10) / 10
  return { count: frames.length, median: at(0.5), late: at(0.95), longest: at(1), blocked: Math.round(blocked) }
}
