// CaveAgent 0.7.3 with a scripted model, measured in November 2026 on a 2-core machine under Python
// 3.11. It is not run here: these are constants, and the lower bound of each range is the one to beat.
export const caveAgent = {
  stepMs: { from: 0.43, to: 0.65 },
  cellMs: { from: 0.36, to: 0.47 },
  /** Of its kernel runtime: from nothing to the first result, and one cell after that. */
  kernelStartMs: { from: 1060, to: 2500 },
  kernelCellMs: { from: 7, to: 11 },
}

// ipykernel 6.17 itself, spoken to by a bare client on the same machine: what a cell in Python costs before Karst.
export const ipykernel = { cellMs: { from: 7, to: 9 } }

// LangGraph 1.4.18 with its SqliteSaver, measured in November 2026 on a 2-core machine: one step of a durable run. It
// is not run here; a step becomes slower with the length of the run.
export const langGraph = { stepMs: { at50: 2.9, at300: 7.8 } }
