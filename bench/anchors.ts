// CaveAgent 0.7.3's in-process runtime with a scripted model, measured in November 2026 on a 2-core machine under Python
// 3.11. It is not run here: these are constants, and the lower bound of each range is the one to beat.
export const caveAgent = {
  stepMs: { from: 0.43, to: 0.65 },
  cellMs: { from: 0.36, to: 0.47 },
}
