"""The command line: `penstock run`, `plan`, `check`, `explain`, `shell`, `show` and `demo`.

main ─┬─ running    statements of files, then steps            stopping    by signals
      ├─ planning   what files would change in a directory
      ├─ checking   memory verdicts           explaining   plans        questions   of both
      ├─ shell      a prompt
      ├─ showing    a state directory, without Spark
      ├─ demo       a live auction            demo_screen  its picture
      └─ starting   Spark, quietly            waiting      with a bar   printing    results
"""
