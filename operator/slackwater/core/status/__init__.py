"""What a ConsumerGroup's status says.

compose         the whole of it, from a world and the plan made of it
certificates    whether those of a KafkaConnection end soon
conditions      what is so, why, and since when
recommendation  what is recommended, and what came of it
upgrade         where the way to another protocol stands
unseen          what is not done before a pod was seen in the group
"""
