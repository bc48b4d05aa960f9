"""The command line: `penstock run`, `check`, `explain`, `shell`, `show` and `demo`.

main ─┬─ running    statements of files, then steps
      ├─ checking   memory verdicts           explaining   plans
      ├─ shell      a prompt
      ├─ showing    a state directory, without Spark
      ├─ demo       a live auction
      └─ starting   Spark, quietly            printing     results and errors
"""
