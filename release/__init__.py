"""What a release is made of, beside its images: the workflow `.github/workflows/release.yaml` calls these modules.

- `version` the tag, the package, the chart and the changelog name one version
- `chart` the chart as it is published: with the images' addresses and Artifact Hub's data
- `command` the command as one program, in an archive
- `krew` the manifest by which krew installs it
- `notes` the changelog's section of one version
"""
