"""Whole state directories: verified, backed up, restored, brought up to date. Without Spark."""

from penstock.directory.backups import Copied, backup, restore
from penstock.directory.layout_upgrade import Upgrade, upgrade
from penstock.directory.verification import Problem, Verification, verify

__all__ = [
    "Copied",
    "Problem",
    "Upgrade",
    "Verification",
    "backup",
    "restore",
    "upgrade",
    "verify",
]
